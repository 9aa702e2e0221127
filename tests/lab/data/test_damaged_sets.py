"""Damaged data sets end in one sentence, and read nothing that lies elsewhere."""

from __future__ import annotations

import json

import pytest

from neurok.errors import FormatError
from neurok.io.npz_arrays import pack, unpack
from neurok_lab.data.shards import ShardSet, decode_asset, decode_subject, encode_asset

FACTS = {"recipe": "tiny", "seed": 0, "bytes": 9, "tally": {}, "rejected": {}}
GOOD = {"version": 1, "items": 1, "shards": [{"name": "shard-00000.tar", "sha256": "0"}], **FACTS}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"shards": [{"name": "../../secret.tar", "sha256": "0"}]}, "called '../../secret.tar'"),
        ({"shards": [{"name": "/etc/passwd", "sha256": "0"}]}, "called"),
        ({"shards": [{"name": "shard-00000.tar"}]}, "no checksum"),
        ({"shards": ["shard-00000.tar", 3]}, "damaged"),
        ({"shards": None}, "lists no shards"),
        ({"items": "many"}, "number of items"),
        ({"tally": None}, "its tally is None"),
        ({"version": ["x" * 500] * 500}, "version"),
    ],
)
def test_a_manifest_names_nothing_outside_its_folder(tmp_path, change, word):
    (tmp_path / "manifest.json").write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(FormatError, match=word) as caught:
        ShardSet.open(tmp_path)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "[]", "null", '{"version": 1}'])
def test_a_manifest_that_is_none_is_refused(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(FormatError):
        ShardSet.open(tmp_path)


def test_a_damaged_item_is_a_sentence(chest):
    arrays = dict(unpack(encode_asset(chest), "item.npz"))
    with pytest.raises(FormatError):
        decode_asset(pack({key: value for key, value in arrays.items() if key != "vertices"}))
    with pytest.raises(FormatError, match="damaged"):
        decode_subject(pack(arrays))
