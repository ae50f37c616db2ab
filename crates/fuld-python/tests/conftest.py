"""What all tests stand on."""

import signal


def pytest_configure() -> None:
    """Hear Ctrl-C also where the tests run in the background of a shell, which turns it off."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
