import { useEffect, useRef, useState } from 'react';
import type { DefinitionPreview } from '@beckon/contract/dashboard';
import { ApiError, useCall } from '../../api/index.ts';

export type Previewed = { data: DefinitionPreview | null; error: ApiError | null; isLoading: boolean };

/** The delay between the last keystroke and the count. */
const AFTER_MS = 400;

/** Counts a definition after a pause in typing, and keeps the last result until the next one arrives. */
export function usePreview(definition: unknown, audience: string | undefined): Previewed {
  const call = useCall();
  // Its identity changes with every render, which must not cause a request.
  const latest = useRef(call);
  useEffect(() => {
    latest.current = call;
  });
  const [preview, setPreview] = useState<Previewed>({ data: null, error: null, isLoading: true });
  const text = JSON.stringify(definition);
  useEffect(() => {
    const ended = new AbortController();
    const load = async (): Promise<void> => {
      setPreview((was) => ({ ...was, isLoading: true }));
      try {
        const body = {
          definition: JSON.parse(text) as unknown,
          ...(audience === undefined ? {} : { audience }),
        };
        const { data } = await latest.current(
          'POST /projects/:project/audiences/preview',
          { body },
          ended.signal,
        );
        setPreview({ data, error: null, isLoading: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setPreview((was) => ({ ...was, error, isLoading: false }));
      }
    };
    const timer = setTimeout(() => void load(), AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text, audience]);
  return preview;
}
