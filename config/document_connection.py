"""A connection whose requests for public documents are answered in the loop, and all others by threads."""

import asyncio
import time
from functools import partial
from typing import Any, Final

from config.connection import Connection
from config.documents import Wanted
