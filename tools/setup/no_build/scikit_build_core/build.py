"""Stands in for a source package's build backend while pip fetches the package.

pip download asks the backend for the package's metadata. The real one would want CMake and a
compiler; this one answers with the PKG-INFO that the archive holds, and nothing of the package runs.
"""

import email
import pathlib


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    package = email.message_from_string(text)
    name = package["Name"].replace("-", "_")
    info = pathlib.Path(folder, f"{name}-{package['Version']}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(text, encoding="utf-8")
    return info.name
