"""Pictures and films on disk, read back by other programs."""

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from neurok.errors import NeurokError
from neurok.rendering import contact_sheet, save_image, save_video


def frames(count, height=48, width=64):
    ramp = np.linspace(0, 255, width, dtype=np.uint8)
    for i in range(count):
        frame = np.repeat(np.roll(ramp, 4 * i)[None, :, None], height, axis=0)
        yield np.concatenate([frame, frame // 2, 255 - frame], axis=2)


def test_a_picture_comes_back_unchanged(tmp_path):
    image = next(frames(1))
    save_image(image, tmp_path / "deep" / "a.png")
    assert np.array_equal(np.asarray(Image.open(tmp_path / "deep" / "a.png")), image)
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a.png"]


def test_a_film_decodes_to_the_same_number_and_size_of_frames(tmp_path):
    assert save_video(frames(11), tmp_path / "a.mp4", fps=12.0) == 11
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    meta = next(reader)
    decoded = [np.frombuffer(frame, dtype=np.uint8).reshape(48, 64, 3) for frame in reader]
    assert meta["size"] == (64, 48)
    assert meta["fps"] == pytest.approx(12.0)
    assert len(decoded) == 11
    for seen, meant in zip(decoded, frames(11), strict=True):
        assert np.abs(seen[:, 4:-4].astype(int) - meant[:, 4:-4])[:, :40].mean() < 12


def test_odd_sizes_are_cut_to_what_the_format_can_hold(tmp_path):
    save_video(frames(3, 47, 63), tmp_path / "odd.mp4")
    assert next(imageio_ffmpeg.read_frames(str(tmp_path / "odd.mp4")))["size"] == (62, 46)


def test_the_same_frames_give_the_same_file(tmp_path):
    for name in ("a.mp4", "b.mp4", "a.gif", "b.gif"):
        save_video(frames(5), tmp_path / name)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_a_gif_holds_all_frames_at_the_right_pace(tmp_path):
    assert save_video(frames(7), tmp_path / "a.gif", fps=10.0) == 7
    film = Image.open(tmp_path / "a.gif")
    assert (film.n_frames, film.size, film.info["duration"]) == (7, (64, 48), 100)
    film.seek(3)
    meant = list(frames(7))[3]
    assert np.abs(np.asarray(film.convert("RGB")).astype(int) - meant).mean() < 12


def test_a_failure_half_way_leaves_nothing(tmp_path):
    def broken():
        yield next(frames(1))
        raise NeurokError("no more")

    for name in ("a.mp4", "a.gif"):
        with pytest.raises(NeurokError, match="no more"):
            save_video(broken(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "words"), [("a.avi", "must end in"), ("a", "must end in")])
def test_unknown_suffixes_are_refused(tmp_path, name, words):
    with pytest.raises(NeurokError, match=words):
        save_video(frames(2), tmp_path / name)
    with pytest.raises(NeurokError, match=words):
        save_image(next(frames(1)), tmp_path / name)


def test_a_film_needs_frames_and_a_pace(tmp_path):
    with pytest.raises(NeurokError, match="no frames"):
        save_video(iter(()), tmp_path / "a.mp4")
    with pytest.raises(NeurokError, match="fps"):
        save_video(frames(2), tmp_path / "a.mp4", fps=0.0)


def test_a_sheet_puts_each_picture_into_its_place():
    tiles = [np.full((20, 30, 3), 40 * i, dtype=np.uint8) for i in range(5)]
    sheet = contact_sheet(tiles, columns=3, gap=2)
    assert sheet.shape == (42, 94, 3)
    for i in range(5):
        assert (sheet[22 * (i // 3) + 10, 32 * (i % 3) + 15] == 40 * i).all()
    assert contact_sheet(tiles, columns=3, labels=list("abcde")).shape == (44, 98, 3)
    with pytest.raises(NeurokError, match="same size"):
        contact_sheet([tiles[0], tiles[1][:10]])
