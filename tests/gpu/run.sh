#!/usr/bin/env bash
# Everything about GPUs in one run, in under five minutes, with a summary at the end: the pretend GPU's cases, the device
# mistakes, and, where there is a GPU, the same cases on it, confined kernels that use it, and the same points as without.
# Run it from anywhere: tests/gpu/run.sh. Exit code 0 when all passed (or were skipped, with the reason in the summary).
set -u
cd "$(dirname "$0")/../.."
python=.venv/bin/python
[ -x "$python" ] || python=python3
report=$(mktemp)
trap 'rm -f "$report"' EXIT

"$python" - <<'END'
import torch
gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none that torch finds"
print(f"torch {torch.__version__}, CUDA build {torch.version.cuda}, GPU: {gpu}")
END

began=$SECONDS
timeout 290 "$python" -m pytest -q -p no:cacheprovider -rs \
    tests/attnlab/test_pretend.py tests/attnlab/test_trial_devices.py tests/solutions/test_devices.py \
    tests/grader/test_gpu.py tests/gpu "$@" 2>&1 | tee "$report" | grep -E '^(FAILED|ERROR|E  )'
code=${PIPESTATUS[0]}

echo "== summary, after $((SECONDS - began)) s"
grep -E '^SKIPPED|passed|failed' "$report" | cut -c1-200
[ "$code" -eq 124 ] && echo "stopped: it took longer than 290 s"
exit "$code"
