import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/**
 * Replaces the current page, once. The router's `Navigate` navigates again with each render of its parent, and a parent that reads the
 * location renders with each navigation. Together they never end, and the tab no longer responds.
 */
export function Redirect(to: NavigateOptions): null {
  const navigate = useNavigate();
  const go = useEffectEvent(() => void navigate({ ...to, replace: true }));
  useEffect(() => go(), []);
  return null;
}
