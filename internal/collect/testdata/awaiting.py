"""Awaits in turn: a short sleep in each of two coroutines, and another task."""

import asyncio


async def fetch():
    await asyncio.sleep(0.03)


async def other():
    await asyncio.sleep(0.03)


async def main():
    print("ready", flush=True)
    for _ in range(20):
        await fetch()
        await asyncio.ensure_future(other())
    print("done", flush=True)


asyncio.run(main())
