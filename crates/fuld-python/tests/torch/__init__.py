"""Tests of fuld.torch; they are skipped where torch is not installed."""
