import { useEffect, useState } from 'react';
import type { EmailSource, TemplatePreview } from '@beckon/contract/dashboard';
import { ApiError, useCall } from '../../api/index.ts';

const AFTER_MS = 500;

export type Previewed = {
  preview: TemplatePreview | null;
  /** The preview belongs to text that has changed since. */
  isOld: boolean;
  error: ApiError | null;
};

type Asked = { email: EmailSource; user: string | undefined; at: string | undefined };

/** Previews the edited template for a user or a sample user, after each pause in typing. */
export function usePreview(name: string, { email, user, at }: Asked): Previewed {
  const ask = useCall();
  const [answer, setAnswer] = useState<{
    of: string;
    preview: TemplatePreview | null;
    error: ApiError | null;
  }>();
  const asked = JSON.stringify([name, { source: email, user, ...(user !== undefined && { at }) }]);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const [template, body] = JSON.parse(asked) as [
        string,
        { source: EmailSource; user?: string; at?: string },
      ];
      ask(
        'POST /projects/:project/templates/:template/preview',
        { params: { template }, body },
        ended.signal,
      ).then(
        ({ data }) => setAnswer({ of: asked, preview: data, error: null }),
        (error: unknown) => {
          if (error instanceof ApiError)
            setAnswer((was) => ({ of: asked, preview: was?.preview ?? null, error }));
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `ask` is a new function at each render with the same behavior.
  }, [asked]);
  return { preview: answer?.preview ?? null, isOld: answer?.of !== asked, error: answer?.error ?? null };
}
