import { useEffect, useEffectEvent, useRef } from 'react';
import { useFeedState } from '../../api/index.ts';

/**
 * The feed does not report changes between loading a page and connecting. Data that was loaded before the feed
 * connected is loaded again.
 */
export function useOnLive(again: () => void): void {
  const state = useFeedState();
  const before = useRef(state);
  const run = useEffectEvent(again);
  useEffect(() => {
    if (state === 'live' && before.current !== 'live') run();
    before.current = state;
  }, [state]);
}
