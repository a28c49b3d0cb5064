import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

STEPS = 45
BATCH_SIZE = 32
CROP = 320
NUM_SAMPLES = 256
NUM_CLASSES = 19
WIDTH = 32

device = "cuda" if torch.cuda.is_available() else "cpu"


class StreetScenes(Dataset):
    """Crops held in memory; one item is a whole batch."""

    def __init__(self, num_batches):
        g = torch.Generator().manual_seed(1)
        self.images = torch.randint(0, 256, (NUM_SAMPLES, 3, CROP, CROP), dtype=torch.uint8, generator=g)
        coarse = torch.randint(0, NUM_CLASSES, (NUM_SAMPLES, 1, CROP // 16, CROP // 16), generator=g)
        masks = F.interpolate(coarse.float(), size=(CROP, CROP), mode="nearest")
        self.masks = masks.squeeze(1).to(torch.uint8)
        self.num_batches = num_batches

    def __len__(self):
        return self.num_batches

    def __getitem__(self, i):
        lo = (i * BATCH_SIZE) % NUM_SAMPLES
        return self.images[lo:lo + BATCH_SIZE], self.masks[lo:lo + BATCH_SIZE]


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, width, num_classes):
        super().__init__()
        chans = [width, width * 2, width * 4, width * 8]
        self.down = nn.ModuleList()
        cin = 3
        for c in chans:
            self.down.append(double_conv(cin, c))
            cin = c
        self.mid = double_conv(chans[-1], chans[-1] * 2)
        self.up = nn.ModuleList()
        self.dec = nn.ModuleList()
        cin = chans[-1] * 2
        for c in reversed(chans):
            self.up.append(nn.ConvTranspose2d(cin, c, 2, stride=2))
            self.dec.append(double_conv(c * 2, c))
            cin = c
        self.head = nn.Conv2d(cin, num_classes, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = self.mid(x)
        for up, dec in zip(self.up, self.dec):
            x = dec(torch.cat([up(x), skips.pop()], dim=1))
        return self.head(x)


def fast_hist(label, pred, n):
    valid = (label >= 0) & (label < n)
    return np.bincount(n * label[valid].astype(np.int64) + pred[valid], minlength=n * n).reshape(n, n)


class Segmenter(L.LightningModule):
    def __init__(self, lr=3e-4):
        super().__init__()
        self.lr = lr
        self.net = UNet(WIDTH, NUM_CLASSES).to(memory_format=torch.channels_last)
        self.hist = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)

    def forward(self, images):
        x = images.to(memory_format=torch.channels_last).float().div(255.0)
        return self.net(x)

    def training_step(self, batch, batch_idx):
        images, masks = batch
        masks = masks.long()
        logits = self(images)
        loss = F.cross_entropy(logits, masks)

        preds = logits.detach().argmax(dim=1)
        self.hist += fast_hist(masks.cpu().numpy(), preds.cpu().numpy(), NUM_CLASSES)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        diag = np.diag(self.hist)
        union = self.hist.sum(0) + self.hist.sum(1) - diag
        self.log("train_miou", float(np.mean(diag / np.maximum(union, 1))))
        self.hist[:] = 0

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr, fused=True)


def main():
    L.seed_everything(0)
    loader = DataLoader(StreetScenes(STEPS), batch_size=None, shuffle=True, pin_memory=device == "cuda")
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="auto",
        devices=1,
        precision="bf16-mixed",
        benchmark=True,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Segmenter(), loader)
    print({k: round(float(v), 4) for k, v in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main()
