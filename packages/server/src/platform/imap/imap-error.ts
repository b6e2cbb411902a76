/**
 * Why a mailbox could not be read. `sign_in`: the server refused the user name or the password. `message` is shown to members, so it
 * contains no password.
 */
export type ImapFailure = 'connect' | 'tls' | 'sign_in' | 'folder' | 'protocol' | 'timeout' | 'closed';

export class ImapError extends Error {
  readonly failure: ImapFailure;

  constructor(failure: ImapFailure, message: string) {
    super(message);
    this.name = 'ImapError';
    this.failure = failure;
  }
}

export function protocolError(detail: string): ImapError {
  return new ImapError('protocol', `The answer of the server is not valid IMAP: ${detail}`);
}
