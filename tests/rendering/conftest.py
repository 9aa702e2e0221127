"""Pictures need EGL; a machine without it skips these tests and says so."""

import pytest

from neurok.errors import MissingDependencyError


@pytest.fixture(scope="session", autouse=True)
def egl():
    from neurok.rendering.context import gl_stage

    try:
        return gl_stage()
    except MissingDependencyError as error:
        pytest.skip(f"no pictures on this machine: {error}")
