import type { FaultCode, TeamFaultCode } from '@beckon/contract';

export type FieldFault = { message: string; field?: string };

export type FaultOptions = {
  /** What the caller reads, one entry a field; the catalogue's text when left out. */
  details?: FieldFault[];
  /** Whole seconds until a retry may help. */
  retryAfterS?: number;
  /** For the log only; it never reaches an answer. */
  cause?: unknown;
};

type AnyCode = FaultCode | TeamFaultCode;

/** A user's mistake or a state of ours that a caller must hear of. What it means in HTTP is known to `http/faults.ts` alone. */
export class Fault<Code extends AnyCode = AnyCode> extends Error {
  readonly code: Code;
  readonly details: FieldFault[];
  readonly retryAfterS: number | undefined;

  constructor(code: Code, options: FaultOptions = {}) {
    super(options.details?.[0]?.message ?? code, { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterS = options.retryAfterS;
  }
}
