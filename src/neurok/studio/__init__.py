"""The window: see an object in a browser, grab it, push it, correct its plan, record and save it."""
