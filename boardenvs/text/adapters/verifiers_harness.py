"""How `verifiers` asks a model here: in this process, and one prompt at a time.

A prompt has the whole game in it, so each reply is a sample to train on, and no conversation grows.
"""

from __future__ import annotations

from typing import Any

import httpx
import verifiers.v1 as vf


class OneTurnHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one reply to each prompt alone, without those before it."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def resume(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, _: Any, *rest: Any
    ) -> vf.ProgramResult:
        data, messages = rest[:2]
        system = [{"role": "system", "content": data.system_prompt}] if data.system_prompt else []
        asked = [{"role": "user", "content": message.content} for message in messages]
        async with httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": system + asked},
            )
        return vf.ProgramResult(exit_code=int(answer.is_error), stdout="", stderr=answer.text)

    async def launch(self, *_: Any, **__: Any) -> vf.ProgramResult:
        raise NotImplementedError("TextBoardEnv opens each exchange")
