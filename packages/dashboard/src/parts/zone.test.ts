import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useProjectZone, useZone, ZoneProvider } from './zone.tsx';

afterEach(() => vi.unstubAllGlobals());

function Zones(): ReactNode {
  return `${useZone()} ${useProjectZone()}`;
}

function zonesWith(stored: string | null): string {
  vi.stubGlobal('localStorage', { getItem: () => stored });
  return renderToStaticMarkup(
    createElement(ZoneProvider, { zone: 'Europe/Berlin', children: createElement(Zones) }),
  );
}

describe('useProjectZone', () => {
  it('returns the zone of the project while times are shown in UTC', () => {
    expect(zonesWith('yes')).toBe('UTC Europe/Berlin');
    expect(zonesWith(null)).toBe('Europe/Berlin Europe/Berlin');
  });
});
