"""Creates LiteLLM's spend views as the owner of the tables.

The gateway would do it at its start, and may not: it tries for minutes and says so each time.
"""

# Both packages are in LiteLLM's image alone.
# mypy: disable-error-code="import-not-found"
import asyncio

from litellm.proxy.db.create_views import create_missing_views
from prisma import Prisma


async def main() -> None:
    """Let LiteLLM create what is missing."""
    database = Prisma()
    await database.connect()
    try:
        await create_missing_views(database)
    finally:
        await database.disconnect()


asyncio.run(main())
