"""Fixtures and settings of all tests."""

import signal

import pytest


def pytest_configure() -> None:
    """Hear Ctrl-C also where the tests run in the background of a shell, which turns it off."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def same_code(monkeypatch):
    """Let all functions of one name pass for the same, so that a fast one continues a slow one."""
    monkeypatch.setattr("fuld._potential.code_hash", lambda function: "0" * 64)
