import type { FaultCode, TeamFaultCode } from '@beckon/contract';

export type FieldFault = { message: string; field?: string };

export type FaultOptions = {
  /** The messages for the caller, one per field. Defaults to the text of the fault catalog. */
  details?: FieldFault[];
  /** Whole seconds until a retry may help. */
  retryAfterS?: number;
  /** For the log only; never part of a response. */
  cause?: unknown;
};

type AnyCode = FaultCode | TeamFaultCode;

/** A mistake of the caller, or a state of the server that the caller must learn. Only `platform/http/answers.ts` maps it to HTTP. */
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
