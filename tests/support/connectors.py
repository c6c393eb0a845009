"""Connectors of a tenant, and the requests that their providers get."""

from typing import Any

from interaction.connectors import configs, services
from interaction.connectors.messages import Message
from interaction.connectors.providers import registry


def create(world: Any, connector_id: str, type: str, **config: Any) -> Any:  # noqa: A002
    with world.active():
        return services.create(connector_id=connector_id, type=type, config=config, is_proven=True)


def send(connector_id: str, message: Message, **config: Any) -> None:
    provider: Any = registry.find(connector_id)
    provider.send(configs.with_defaults(provider, configs.validate(provider, config)), message)


def check(connector_id: str, **config: Any) -> None:
    provider: Any = registry.find(connector_id)
    provider.test(
        configs.with_defaults(provider, configs.validate(provider, config)),
        "https://us.example/social/callback/1",
    )
