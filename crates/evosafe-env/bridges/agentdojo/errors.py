"""What the bridge answers when it does not do what it was asked."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
ENVIRONMENT_ERROR, NOT_ALLOWED, BAD_OPTIONS, UNSUPPORTED = -32000, -32001, -32002, -32003


class BridgeError(Exception):
    """An answer to the client, as opposed to a bug."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message
