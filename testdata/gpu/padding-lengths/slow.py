"""Fine-tune a BERT-like classifier on support tickets (synthetic) with transformers.Trainer."""
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    default_data_collator,
    set_seed,
)

STEPS = 30
BATCH_SIZE = 128
NUM_TICKETS = 4096
VOCAB_WORDS = 8000
MAX_LENGTH = 512
NUM_LABELS = 12
LAYERS = 12
HIDDEN = 768

device = "cuda" if torch.cuda.is_available() else "cpu"


def build_tokenizer():
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocab = {w: i for i, w in enumerate(specials + [f"word{i}" for i in range(VOCAB_WORDS)])}
    tok = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
        cls_token="[CLS]", sep_token="[SEP]", model_max_length=MAX_LENGTH,
    )


def make_tickets():
    rng = random.Random(0)
    texts, labels = [], []
    for _ in range(NUM_TICKETS):
        n = max(5, min(140, int(rng.lognormvariate(3.9, 0.5))))
        texts.append(" ".join(f"word{rng.randrange(VOCAB_WORDS)}" for _ in range(n)))
        labels.append(rng.randrange(NUM_LABELS))
    return texts, labels


class TicketDataset(Dataset):
    def __init__(self, texts, labels, tokenizer):
        self.enc = tokenizer(texts, truncation=True, max_length=MAX_LENGTH, padding="max_length",
                             return_token_type_ids=False)
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {
            "input_ids": self.enc["input_ids"][i],
            "attention_mask": self.enc["attention_mask"][i],
            "labels": self.labels[i],
        }


def main():
    set_seed(0)
    tokenizer = build_tokenizer()
    texts, labels = make_tickets()
    train_set = TicketDataset(texts, labels, tokenizer)

    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=HIDDEN, num_hidden_layers=LAYERS,
        num_attention_heads=HIDDEN // 64, intermediate_size=HIDDEN * 4,
        max_position_embeddings=MAX_LENGTH, num_labels=NUM_LABELS,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = BertForSequenceClassification(config)

    args = TrainingArguments(
        output_dir="/tmp/ticket_classifier",
        max_steps=STEPS,
        per_device_train_batch_size=BATCH_SIZE,
        learning_rate=5e-5,
        lr_scheduler_type="linear",
        bf16=device == "cuda",
        optim="adamw_torch_fused",
        dataloader_num_workers=4,
        dataloader_persistent_workers=True,
        logging_steps=10,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train_set,
        data_collator=default_data_collator,
    )
    result = trainer.train()
    print(f"loss {result.training_loss:.4f}")


if __name__ == "__main__":
    main()
