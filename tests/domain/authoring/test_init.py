from __future__ import annotations

import base64

import pytest

from shared.domain.authoring.init import NotAnImage, new_package


def test_r337_only_a_name_is_needed() -> None:
    assert new_package("tea") == {"schema": "olm.package", "name": "tea", "defaultChannel": ""}


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"\x89PNG\r\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"BM\0", "image/bmp"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "image/heif"),
        (b"<?xml version='1.0'?>\n<!-- * -->\n<svg width='1'></svg>\n", "image/svg+xml"),
    ],
)
def test_r337_the_media_type_of_an_icon_is_found_in_its_content(content: bytes, media_type: str) -> None:
    package = new_package("tea", default_channel="stable", description="Hot.\n", icon=content)
    icon = {"base64data": base64.b64encode(content).decode(), "mediatype": media_type}
    assert list(package.items())[2:] == [("defaultChannel", "stable"), ("icon", icon), ("description", "Hot.\n")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"foo", 'detected invalid type "": not an image', id="R339: text"),
        pytest.param(b"", "detect icon mediatype: Empty buffer", id="R339: nothing"),
        pytest.param(b"%PDF-1.7", 'detected invalid type "application/pdf": not an image', id="a document"),
    ],
)
def test_r339_an_icon_that_is_no_image_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(NotAnImage) as caught:
        new_package("tea", icon=content)
    assert str(caught.value) == message
