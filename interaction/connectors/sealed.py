"""Configurations of connectors, as they lie in the database."""

from typing import Final

from identity.core.sealed import Sealed
from interaction.connectors import sealing
from interaction.connectors.models import Connector

SEALED: Final = [Sealed("connectors", Connector.objects.all, "sealed_config", sealing.PURPOSE)]
