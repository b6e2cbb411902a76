import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useProject } from '../api/index.ts';
import { isInSettings, placeOf } from './place.ts';

/** The path of the page that was open before Settings; without one, of Home. */
export function useMainPath(): string {
  const { pathname } = useLocation();
  const { id } = useProject();
  const [last, setLast] = useState(`/p/${id}/home`);
  const place = placeOf(pathname);
  if (place !== null && !isInSettings(place) && pathname !== last) setLast(pathname);
  return last;
}
