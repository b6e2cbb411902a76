import type { ReactNode } from 'react';
import type { ApiError } from '../../api/index.ts';
import { ErrorBox } from '../../parts/index.ts';
import { waitWords } from './words.ts';

/** Errors that belong to no field of this form. `fields`: those that show their own errors. */
export function FormError({ error, fields = [] }: { error: ApiError | null; fields?: string[] }): ReactNode {
  if (!error) return null;
  if (error.status === 429)
    return <ErrorBox error={{ message: waitWords(error.retryAfterS) }} title="Too many attempts" />;
  return error.field !== undefined && fields.includes(error.field) ? null : <ErrorBox error={error} />;
}

export function fieldOf(error: ApiError | null, field: string): string | null {
  return error?.fields[field] ?? null;
}
