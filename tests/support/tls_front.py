"""Ends TLS and passes the bytes on, as a reverse proxy does.

``python -m tests.support.tls_front PORT BEHIND CERTIFICATE`` knows nothing of the project.
"""

import asyncio
import ssl
import sys


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def serve(port: int, behind: int, certificate: str) -> None:
    async def both_ways(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, requests = await asyncio.open_connection("127.0.0.1", behind)
        except ConnectionError:
            writer.close()
            return
        await asyncio.gather(pass_on(reader, requests), pass_on(answers, writer))

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    # Every address of the name: some clients try only the first.
    listening = await asyncio.start_server(both_ways, "localhost", port, ssl=context)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
