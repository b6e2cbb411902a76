import { useLocation } from '@tanstack/react-router';
import { type Place, placeOf } from './place.ts';

/** The page of the sidebar that is open. */
export function usePlace(): Place | null {
  return placeOf(useLocation().pathname);
}
