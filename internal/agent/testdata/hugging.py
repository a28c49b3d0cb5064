"""Hugging Face's Trainer: hugging.py train|evaluate|predict BATCHES-PER-STEP. Two epochs of 12 batches and 3 of an evaluation."""

import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 2)

    def forward(self, x, labels):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Counting(TrainerCallback):
    count = 0

    def on_step_end(self, args, state, control, **_):
        Counting.count += 1


class Mine(Trainer):
    def training_step(self, *arguments, **keywords):
        return super().training_step(*arguments, **keywords)


def rows(count):
    return [{"x": torch.ones(16) * i, "labels": torch.tensor(i % 2)} for i in range(count)]


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        per_device_train_batch_size=2,
        per_device_eval_batch_size=2,
        num_train_epochs=2,
        gradient_accumulation_steps=int(sys.argv[2]),
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Mine(Model(), arguments, train_dataset=rows(24), eval_dataset=rows(6), callbacks=[Counting])
    if sys.argv[1] == "train":
        trainer.train()
    elif sys.argv[1] == "evaluate":
        trainer.evaluate()
    else:
        trainer.predict(rows(10))
    print("steps", trainer.state.global_step, Counting.count)
