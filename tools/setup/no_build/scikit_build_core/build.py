"""Stands in for a source package's build backend while pip fetches the package.

pip download asks the backend for the package's metadata. The real one would compile; this one
answers with the PKG-INFO that the archive holds, so that nothing of the package runs.
"""

import pathlib


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = pathlib.Path(folder, "package.dist-info")
    info.mkdir()
    (info / "METADATA").write_bytes(pathlib.Path("PKG-INFO").read_bytes())
    return info.name
