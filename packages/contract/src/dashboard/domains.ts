import type { Many, One } from './envelope.ts';

export type DnsRecord = {
  kind: 'dkim' | 'return_path_mx' | 'return_path_spf' | 'dmarc';
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  /** The same in parts of at most 255 characters, where a provider wants them. */
  split: string[] | null;
  required: boolean;
  status: 'ok' | 'missing' | 'wrong' | 'unknown' | 'unchecked';
  found: string[];
  message: string | null;
  warning: boolean;
  key_state: string | null;
};

export type SendingDomain = {
  id: string;
  name: string;
  state: 'pending' | 'verified' | 'degraded' | 'failed';
  /** Letters may leave from it now. */
  can_send: boolean;
  records: DnsRecord[];
  throttle: string;
  warm: boolean;
  warmup_from: string | null;
  tracking: {
    host: string;
    state: 'pending' | 'working' | 'failed';
    found: string | null;
    checked_at: string | null;
    next_check_at: string;
    /** What the CNAME of the host has to say. */
    cname_target: string;
  } | null;
  paused_at: string | null;
  paused_reason: string | null;
  created_at: string;
  verified_at: string | null;
  checked_at: string | null;
  next_check_at: string | null;
};

/** `:domain` is its name. */
export type DomainsApi = {
  'GET /projects/:project/domains': { answer: Many<SendingDomain> };
  'POST /projects/:project/domains': {
    body: { name: string; throttle?: string; warm?: boolean };
    answer: One<SendingDomain>;
  };
  'GET /projects/:project/domains/:domain': { answer: One<SendingDomain> };
  'PATCH /projects/:project/domains/:domain': {
    body: { throttle?: string; warm?: boolean };
    answer: One<SendingDomain>;
  };
  /** `name` has to be its own. Its keys are deleted, and letters that would leave from it are held. */
  'DELETE /projects/:project/domains/:domain': { body: { name: string }; answer: One<{ name: string }> };
  /** Looks at the DNS now. */
  'POST /projects/:project/domains/:domain/check': { answer: One<SendingDomain> };
  /** Begins to replace its DKIM key: the new one signs once its record was seen. */
  'POST /projects/:project/domains/:domain/rotate': { answer: One<SendingDomain> };
  'POST /projects/:project/domains/:domain/pause': { body: { reason?: string }; answer: One<SendingDomain> };
  'POST /projects/:project/domains/:domain/resume': { answer: One<SendingDomain & { retried: number }> };
  /** Null: links in its letters have the installation's own address again. */
  'PUT /projects/:project/domains/:domain/tracking': {
    body: { host: string | null };
    answer: One<SendingDomain>;
  };
};
