"""Commands that ``neurok`` has when the lab is installed: ``train``, ``evaluate`` and ``data``."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    # command: (module:class, one line of help)
    "data build": ("neurok_lab.commands.data:DataBuild", "build a data set of moving objects"),
    "data household": ("neurok_lab.commands.data:DataHousehold", "generate household objects to train generation"),
    "data info": ("neurok_lab.commands.data:DataInfo", "report the contents of a data set"),
    "data preview": ("neurok_lab.commands.data:DataPreview", "draw a contact sheet of a data set"),
    "evaluate articulation": ("neurok_lab.commands.evaluate:EvaluateArticulation", "evaluate predicted joints"),
    "evaluate decisions": (
        "neurok_lab.commands.evaluate:EvaluateDecisions",
        "compare decisions on real files with a person's",
    ),
    "evaluate deformation": (
        "neurok_lab.commands.evaluate:EvaluateDeformation",
        "pose held-out objects, with baselines",
    ),
    "evaluate dynamics": ("neurok_lab.commands.evaluate:EvaluateDynamics", "compare the reduced engine with particles"),
    "evaluate generation": (
        "neurok_lab.commands.evaluate:EvaluateGeneration",
        "evaluate objects from words and pictures",
    ),
    "evaluate motions": (
        "neurok_lab.commands.evaluate:EvaluateMotions",
        "evaluate the motions predicted for raw meshes",
    ),
    "evaluate samples": ("neurok_lab.commands.evaluate:EvaluateSamples", "evaluate the plausibility of sampled states"),
    "train articulation": ("neurok_lab.commands.train:TrainArticulation", "train the joint network"),
    "train deformation": ("neurok_lab.commands.train:TrainDeformation", "train kinematic spaces on motion"),
    "train generation": ("neurok_lab.commands.train:TrainGeneration", "train generation from words"),
    "train pictures": ("neurok_lab.commands.train:TrainPictures", "train the reader of pictures"),
    "train parts": ("neurok_lab.commands.train:TrainParts", "train the autoencoder of household parts"),
    "train pieces": ("neurok_lab.commands.train:TrainPieces", "train the grouping of raw pieces into bodies"),
    "train views": ("neurok_lab.commands.train:TrainViews", "train what sees motion from outside"),
    "train plan": ("neurok_lab.commands.train:TrainPlan", "calibrate the joints of body plans"),
    "train ranking": ("neurok_lab.commands.train:TrainRanking", "fit the ranking of the geometric joint search"),
    "train ship": ("neurok_lab.commands.train:TrainShip", "export weights of a training run with a card"),
}
