# SPDX-License-Identifier: GPL-2.0
"""KernelShark: opens the recording itself, on a display in memory.

It draws each task in a colour of its own. Its window has no other bright colours but the green of a
button, so the number of colours says how many tasks it shows.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time

# The user without rights: KernelShark asks a question if it runs as root.
USER = 65534
BUTTON = (44, 175, 44)


def colors(picture):
    """Returns the bright colours of a picture."""
    command = ["magick", picture, "-depth", "8", "-format", "%c", "histogram:info:"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = set()
    for count, values in re.findall(r"(\d+): \(([^)]*)\)", text):
        red, green, blue = color = tuple(int(float(value)) for value in values.split(",")[:3])
        shade = red == blue and green * BUTTON[0] // BUTTON[1] in (red - 1, red, red + 1)
        if int(count) >= 10 and max(color) - min(color) > 120 and not shade:
            found.add(color)
    return found


def show(display, home, path, picture):
    """Takes pictures of KernelShark until it shows colours, for a minute. Returns the last ones."""
    settings = {"DISPLAY": display, "HOME": home, "XDG_RUNTIME_DIR": home, "PATH": "/usr/bin:/bin"}
    command = ["kernelshark", "-i", path]
    if os.getuid() == 0:
        user = f"--reuid={USER}", f"--regid={USER}", "--clear-groups"
        command = ["setpriv", *user, *command]
    with open(picture.with_suffix(".log"), "w", encoding="utf-8") as log:
        program = subprocess.Popen(command, env=settings, stdout=log, stderr=log)
        try:
            for _ in range(30):
                time.sleep(2)
                if program.poll() is not None:
                    raise AssertionError(f"KernelShark ended: status {program.returncode}")
                window = ["import", "-display", display, "-window", "root", picture]
                subprocess.run(window, check=True)
                found = colors(picture)
                if len(found) > 1:
                    break
            titles = ["xwininfo", "-display", display, "-root", "-tree"]
            titles = subprocess.run(titles, check=True, capture_output=True, text=True).stdout
        finally:
            program.terminate()
            program.wait()
    if path not in titles:
        raise AssertionError(f"no window shows {path}: {titles}")
    return found


def check(recording):
    """Shows a recording in KernelShark."""
    running = [task for task in recording.tasks if task["run_ns"] != 0]
    with tempfile.TemporaryDirectory() as home:
        path = shutil.copy(recording.data, home)
        os.chmod(path, 0o644)
        if os.getuid() == 0:
            os.chown(home, USER, USER)
        server = ["Xvfb", "-displayfd", "1", "-ac", "-nolisten", "tcp"]
        server += ["-screen", "0", "1400x900x24"]
        with open(recording.file(".xvfb.log"), "w", encoding="utf-8") as log:
            server = subprocess.Popen(server, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                display = f":{server.stdout.readline().strip()}"
                found = show(display, home, path, recording.file(".kernelshark.png"))
            finally:
                server.terminate()
                server.wait()
    # Tasks that ran for a short time are not visible.
    if len(found) < len(running) / 2:
        raise AssertionError(f"{len(found)} colours for {len(running)} tasks: {sorted(found)}")
