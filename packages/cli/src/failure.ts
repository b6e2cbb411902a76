/** As what the program ends. */
export const EXIT = { ok: 0, failed: 1, usage: 2, auth: 3, partly: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

type More = {
  field?: string | undefined;
  requestId?: string | undefined;
  exit?: ExitCode;
  cause?: unknown;
};

/** What went wrong, in words for whoever typed the command, and as what it ends. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly field: string | undefined;
  readonly requestId: string | undefined;
  readonly exit: ExitCode;

  constructor(code: string, message: string, { field, requestId, exit = EXIT.failed, cause }: More = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.field = field;
    this.requestId = requestId;
    this.exit = exit;
  }
}

/** What was typed is not valid: asking again the same way helps nobody. */
export function usage(message: string, field?: string): Failure {
  return new Failure('usage', message, { field, exit: EXIT.usage });
}

/** Who asks is not known, or may not. */
export function unauthorised(code: string, message: string, requestId?: string): Failure {
  return new Failure(code, message, { requestId, exit: EXIT.auth });
}

export type ErrorLine = { code: string; message: string; field?: string; request_id: string | null };

/** The shape in which scripts read it. */
export function errorLine({ code, message, field, requestId }: Failure): ErrorLine {
  return { code, message, ...(field === undefined ? {} : { field }), request_id: requestId ?? null };
}
