"""A mail server for tests: keeps each message it takes as a file, and ends with its standard input.

Prints its port once it listens. Options make it demand STARTTLS or a password, or refuse.
"""
import argparse
import asyncio
import os
import ssl
import sys
import threading

from aiosmtpd.smtp import SMTP, AuthResult

options = argparse.ArgumentParser()
options.add_argument("folder")
options.add_argument("--port", type=int, default=0)
options.add_argument("--certificate", help="PEM with certificate and key; STARTTLS is then required")
options.add_argument("--login", help="user:password, demanded before any message")
options.add_argument("--refuse", type=int, default=0, help="messages to put off before the first is taken")
options = options.parse_args()


class Keeper:
    def __init__(self):
        self.taken = 0
        self.refused = 0

    async def handle_DATA(self, server, session, envelope):
        if self.refused < options.refuse:
            self.refused += 1
            return "451 4.3.0 come back later"
        self.taken += 1
        name = os.path.join(options.folder, f"{self.taken:04}.eml")
        recipients = ", ".join(envelope.rcpt_tos)
        secured = "yes" if session.ssl else "no"
        with open(name + ".part", "wb") as file:
            file.write(f"X-Envelope-To: {recipients}\r\nX-Secured: {secured}\r\n".encode())
            file.write(envelope.content)
        os.rename(name + ".part", name)
        return "250 2.0.0 taken"


def authenticate(server, session, envelope, mechanism, data):
    given = f"{data.login.decode()}:{data.password.decode()}"
    return AuthResult(success=given == options.login)


def session():
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate)
    return SMTP(
        keeper,
        hostname="smtp.test",
        enable_SMTPUTF8=True,
        tls_context=context,
        require_starttls=context is not None,
        authenticator=authenticate if options.login else None,
        auth_required=options.login is not None,
        auth_require_tls=context is not None,
    )


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


async def serve():
    server = await asyncio.get_running_loop().create_server(session, "127.0.0.1", options.port)
    print(server.sockets[0].getsockname()[1], flush=True)
    threading.Thread(target=end_with_parent, daemon=True).start()
    await server.serve_forever()


keeper = Keeper()
asyncio.run(serve())
