import { useEffect, useState } from 'react';
import type { EmailSource, TemplatePreview } from '@beckon/contract/dashboard';
import { ApiError, useCall } from '../../api/index.ts';

const AFTER_MS = 500;

export type Previewed = {
  preview: TemplatePreview | null;
  /** The last preview of a text without errors. */
  good: TemplatePreview | null;
  /** The preview belongs to text that has changed since. */
  isOld: boolean;
  error: ApiError | null;
};

type UsePreviewOptions = { email: EmailSource; user: string | undefined; at: string | undefined };

/** Previews the edited template for a user or a sample user, after each pause in typing. */
export function usePreview(name: string, { email, user, at }: UsePreviewOptions): Previewed {
  const call = useCall();
  const [result, setResult] = useState<{
    of: string;
    preview: TemplatePreview | null;
    good: TemplatePreview | null;
    error: ApiError | null;
  }>();
  const key = JSON.stringify([name, { source: email, user, ...(user !== undefined && { at }) }]);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const [template, body] = JSON.parse(key) as [
        string,
        { source: EmailSource; user?: string; at?: string },
      ];
      call(
        'POST /projects/:project/templates/:template/preview',
        { params: { template }, body },
        ended.signal,
      ).then(
        ({ data }) =>
          setResult((was) => ({
            of: key,
            preview: data,
            good: data.faults.length === 0 ? data : (was?.good ?? null),
            error: null,
          })),
        (error: unknown) => {
          if (error instanceof ApiError)
            setResult((was) => ({ of: key, preview: was?.preview ?? null, good: was?.good ?? null, error }));
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `call` is a new function at each render with the same behavior.
  }, [key]);
  return {
    preview: result?.preview ?? null,
    good: result?.good ?? null,
    isOld: result?.of !== key,
    error: result?.error ?? null,
  };
}
