export type OutboundFailure = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol';

/** The phase that a connection reached. */
export type Phase = 'connect' | 'tls' | 'open';

/** A failure that we decided on ourselves. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, detail: string) {
    super(detail);
    this.name = 'OutboundError';
    this.failure = failure;
  }
}

/** The same for every forbidden address, whether or not a server listens there, and without the address. */
export function blocked(): OutboundError {
  return new OutboundError('blocked', 'Its host resolves to an address that is not public');
}

export type FailureDetail = { error: OutboundFailure; detail: string };

/** Describes a failure for the customer's log: by its code, because the messages of Node.js contain addresses. */
export function failureOf(error: Error, phase: Phase): FailureDetail {
  if (error instanceof OutboundError) return { error: error.failure, detail: error.message };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
  const failure = kindOf(code, phase);
  return { error: failure, detail: `${SAYS[failure]} (${code})` };
}

function kindOf(code: string, phase: Phase): keyof typeof SAYS {
  if (phase === 'connect') return code === 'ETIMEDOUT' ? 'timeout' : 'connect';
  if (phase === 'tls') return 'tls';
  return code.startsWith('HPE_') || code.startsWith('ERR_') ? 'protocol' : 'reset';
}

const SAYS = {
  connect: 'The connection failed',
  timeout: 'The connection timed out',
  tls: 'The TLS connection failed',
  reset: 'It closed the connection before its response was complete',
  protocol: 'Its response is not HTTP',
} as const satisfies Partial<Record<OutboundFailure, string>>;
