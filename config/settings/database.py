"""The database and the cache."""

from config import env
from config.settings.installation import BASE_URL, THREADS, VAR

# The maximum number of connections that the threads of a worker share. With 0, each thread has its own.
DATABASE_POOL = env.integer("DATABASE_POOL", 0, most=THREADS)
DATABASES = {
    "default": env.database(
        "DATABASE_URL",
        f"sqlite:///{VAR / 'gatehouse.sqlite3'}",
        pool=DATABASE_POOL,
        prepared=env.flag("DATABASE_PREPARED_STATEMENTS", default=True),
    )
}
# The database role with which nodes serve, if it differs from the role that migrates. ``migrate`` grants
# its rights.
DATABASE_SERVING_ROLE = env.text("DATABASE_SERVING_ROLE")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# With CACHE_URL all nodes share the cache, otherwise each worker has its own. The prefix separates
# installations that share one Redis.
CACHE_URL = env.redis_url("CACHE_URL")
CACHE_PREFIX = f"gatehouse:{BASE_URL.partition('//')[2]}"
CACHES = {
    "default": {"BACKEND": "database.redis.SharedCache", "KEY_PREFIX": CACHE_PREFIX}
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
