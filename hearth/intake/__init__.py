"""What runs in LiteLLM's process: it admits requests, renders errors, and decides which deployment is asked.

LiteLLM obeys fields of a request's body. So its handlers see no body that is not canonical JSON of the operation's
schema (architecture §4, Intake). This room is mounted into the published image as it is: it imports the standard
library, pydantic, starlette and uvicorn, which LiteLLM itself needs, LiteLLM in two places, and nothing else of Hearth.
"""
