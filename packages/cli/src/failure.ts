/** The exit codes. */
export const EXIT = { ok: 0, failed: 1, usage: 2, auth: 3, partly: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

type FailureOptions = {
  field?: string | undefined;
  requestId?: string | undefined;
  exit?: ExitCode;
  cause?: unknown;
};

/** An error with a message for the user and an exit code. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly field: string | undefined;
  readonly requestId: string | undefined;
  readonly exit: ExitCode;

  constructor(code: string, message: string, options: FailureOptions = {}) {
    const { field, requestId, exit = EXIT.failed, cause } = options;
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.field = field;
    this.requestId = requestId;
    this.exit = exit;
  }
}

/** The command or its input is invalid; the same command fails again. */
export function usage(message: string, field?: string): Failure {
  return new Failure('usage', message, { field, exit: EXIT.usage });
}

/** The credentials are missing, invalid or not sufficient. */
export function unauthorized(code: string, message: string, requestId?: string): Failure {
  return new Failure(code, message, { requestId, exit: EXIT.auth });
}

/** The answer to a question; null means that the user canceled it. */
export function requireAnswer<T>(answer: T | null): T {
  if (answer !== null) return answer;
  throw new Failure('canceled', 'Canceled. No changes were made.', { exit: EXIT.interrupted });
}

/** The JSON form of an error, for scripts. */
export function errorJson({ code, message, field, requestId }: Failure) {
  return { error: { code, message, field, request_id: requestId } };
}
