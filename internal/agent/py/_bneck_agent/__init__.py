"""x"""
def start():
    pass
