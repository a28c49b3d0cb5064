"""Tasks that wait: for a sleep below two coroutines, for another task, in an async generator, for an event."""
import asyncio


async def innermost():
    await asyncio.sleep(1000)  # SLEEP


async def middle():
    await innermost()  # INNERMOST


async def sleeper():
    await middle()  # MIDDLE


async def waiter(task):
    await task  # TASK


async def produce():
    await asyncio.sleep(1000)  # PRODUCE
    yield 1


async def consume():
    async for _ in produce():  # CONSUME
        pass


async def main():
    first = asyncio.ensure_future(sleeper())
    if hasattr(first, "set_name"):
        first.set_name("the sleeper")
    tasks = [first, asyncio.ensure_future(waiter(first)), asyncio.ensure_future(consume())]
    await asyncio.sleep(0.05)
    print("ready", flush=True)
    await tasks[1]  # MAIN


asyncio.run(main())
