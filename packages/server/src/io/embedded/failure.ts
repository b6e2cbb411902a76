export type EmbeddedFailureCode =
  | 'another_server'
  | 'cannot_start'
  | 'cannot_upgrade'
  | 'closed_folder'
  | 'data_missing'
  | 'no_account'
  | 'no_binaries'
  | 'not_known'
  | 'other_major';

/** What the operator has to hear; its message names the folder and says what to do, so no stack is needed beside it. */
export class EmbeddedFailure extends Error {
  readonly code: EmbeddedFailureCode;

  constructor(code: EmbeddedFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddedFailure';
    this.code = code;
  }
}

/** The code of a failed system call (`ENOENT`) or of PostgreSQL (`28P01`); empty where there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
