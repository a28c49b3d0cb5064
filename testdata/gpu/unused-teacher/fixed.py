"""Distil a ResNet-50 into a ResNet-18 on synthetic images."""
import timm
import torch
import torch.nn.functional as F

STEPS = 60
BATCH_SIZE = 128
IMAGE_SIZE = 224
NUM_IMAGES = 1024
NUM_CLASSES = 100
TEMPERATURE = 4.0
ALPHA = 0.7
LR = 0.05
LOG_EVERY = 20

torch.backends.cudnn.benchmark = True
device = "cuda" if torch.cuda.is_available() else "cpu"


def make_images():
    images = torch.randint(0, 256, (NUM_IMAGES, 3, IMAGE_SIZE, IMAGE_SIZE),
                           dtype=torch.uint8, device=device)
    labels = torch.randint(0, NUM_CLASSES, (NUM_IMAGES,), device=device)
    return images.contiguous(memory_format=torch.channels_last), labels


def distillation_loss(student_logits, teacher_logits, labels):
    soft = F.kl_div(
        F.log_softmax(student_logits.float() / TEMPERATURE, dim=1),
        F.softmax(teacher_logits.float() / TEMPERATURE, dim=1),
        reduction="batchmean",
    ) * TEMPERATURE ** 2
    hard = F.cross_entropy(student_logits.float(), labels, label_smoothing=0.1)
    return ALPHA * soft + (1 - ALPHA) * hard


def main():
    torch.manual_seed(0)
    images, labels = make_images()

    teacher = timm.create_model("resnet50", pretrained=False, num_classes=NUM_CLASSES)
    teacher = teacher.to(device, memory_format=torch.channels_last)
    teacher.eval()

    student = timm.create_model("resnet18", pretrained=False, num_classes=NUM_CLASSES)
    student = student.to(device, memory_format=torch.channels_last)
    student.train()

    optimizer = torch.optim.SGD(student.parameters(), lr=LR, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)

    for step in range(STEPS):
        idx = torch.randint(0, NUM_IMAGES, (BATCH_SIZE,), device=device)
        x = images[idx].float().div_(127.5).sub_(1.0)
        y = labels[idx]

        with torch.autocast(device_type=device, dtype=torch.bfloat16):
            with torch.no_grad():
                teacher_logits = teacher(x)
            student_logits = student(x)
        loss = distillation_loss(student_logits, teacher_logits, y)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()

        if (step + 1) % LOG_EVERY == 0:
            print(f"step {step + 1:4d}  loss {loss.item():.4f}  lr {scheduler.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
