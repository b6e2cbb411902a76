export type BackupFailureCode =
  | 'broken'
  | 'external'
  | 'no_passphrase'
  | 'not_empty'
  | 'not_found'
  | 'other_key'
  | 'other_postgres'
  | 'tablespaces'
  | 'timeline'
  | 'until'
  | 'unwritable'
  | 'wrong_passphrase';

/** What the operator has to hear; it names the place and says what to do. */
export class BackupFailure extends Error {
  readonly code: BackupFailureCode;

  constructor(code: BackupFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'BackupFailure';
    this.code = code;
  }
}
