type Entry = { code: string; message: string; field?: string };

/** An error response; `status` 0: the server was not reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly errors: Entry[];
  readonly requestId: string | null;
  /** Seconds to wait before a retry, if the server sent them. */
  readonly retryAfterS: number | null;

  constructor(details: {
    status: number;
    errors: Entry[];
    requestId: string | null;
    retryAfterS?: number | null;
  }) {
    const [first] = details.errors;
    super(first?.message ?? `The server answered ${details.status}`);
    this.name = 'ApiError';
    this.status = details.status;
    this.code = first?.code ?? 'server_error';
    this.field = first?.field;
    this.errors = details.errors;
    this.requestId = details.requestId;
    this.retryAfterS = details.retryAfterS ?? null;
  }

  /** There was no response, or a 5xx: the change may have been made. */
  get isInDoubt(): boolean {
    return this.status === 0 || this.status >= 500;
  }

  /** Errors by field, for a form: `{ name: 'must not be empty' }`. */
  get fields(): Record<string, string> {
    return Object.fromEntries(this.errors.flatMap(({ field, message }) => (field ? [[field, message]] : [])));
  }
}

export async function readFailure(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get('Retry-After'));
  return new ApiError({
    status: response.status,
    errors: entriesOf(await response.json().catch(() => null), response.status),
    requestId: response.headers.get('X-Request-Id'),
    retryAfterS: after > 0 ? after : null,
  });
}

/** A page has links to the lists, so the command that lists them is left out: "… List the rules with: beckon rules list". */
function withoutCommand(message: string): string {
  return message.replace(/ [A-Z][^.]* with: beckon .*$/, '');
}

/** Beckon responds with `{ errors }`, the sign-in library with `{ code, message }`, and a proxy with anything. */
function entriesOf(body: unknown, status: number): Entry[] {
  const payload = (body ?? {}) as { errors?: Entry[]; code?: string; message?: string };
  if (Array.isArray(payload.errors) && payload.errors.length > 0)
    return payload.errors.map((entry) => ({ ...entry, message: withoutCommand(entry.message) }));
  const message = payload.message ?? `The server answered ${status} and gave no reason.`;
  return [{ code: payload.code ?? 'server_error', message }];
}
