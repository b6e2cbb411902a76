import type { BulkError, Endpoint } from '@beckon/contract';
import type { FieldFault } from '../../../platform/fault.ts';
import type { ReadOptions } from '../../../platform/records/record.ts';
import type { Steps } from '../../../platform/time/steps.ts';
import type { IngestResponse } from '../accept/entry.ts';

/** The endpoint's own part of the pipeline that all five share (`ingest.ts`). */
export type IngestEndpoint = {
  name: Endpoint;
  path: string;
  /** Decides the status of a malformed request (422, on bulk 400), the queue row, the size of a body and what "same body" means. */
  kind: 'single' | 'batch' | 'bulk';
  stores: 'users' | 'events';
  read(body: Record<string, unknown>, options: ReadOptions): ReadRequest | Steps<ReadRequest>;
};

/**
 * The records to store and the answer to them, or the errors of the request. `compact` is the body's own JSON text, in pieces, where
 * reading produced it anyway.
 */
export type ReadRequest =
  | {
      ok: true;
      records: number;
      parts: string;
      reply: IngestResponse;
      userIds: string[];
      refused: BulkError[];
      compact: readonly string[] | null;
    }
  | { ok: false; faults: FieldFault[] };
