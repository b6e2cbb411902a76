import { Tooltip } from '@mantine/core';
import { type ClipboardEvent, type ReactNode, useRef, useState } from 'react';
import { useNow } from './ticking.ts';
import { formatRelative, formatTime, type TimeStyle } from './time.ts';
import { useZone } from './zone.tsx';

export type WhenProps = {
  at: string | null;
  /** The user's zone, shown on hover beside the project's. */
  theirZone?: string | null | undefined;
  style?: TimeStyle | 'relative';
  /** The text for a missing time. */
  none?: string;
};

/** A time in the project's zone. The full time and the user's zone are shown on hover; it is copied as ISO 8601. */
export function When({ at, theirZone, style = 'short', none = '–' }: WhenProps): ReactNode {
  const zone = useZone();
  const timeRef = useRef<HTMLTimeElement>(null);
  const [isOver, setOver] = useState(false);
  if (at === null) return <span>{none}</span>;
  return (
    <>
      <time
        ref={timeRef}
        dateTime={at}
        className="beckon-when"
        onCopy={(event) => copyIso(event, at)}
        onPointerEnter={() => setOver(true)}
        onPointerLeave={() => setOver(false)}
      >
        {style === 'relative' ? <Relative at={at} /> : formatTime(at, zone, style)}
      </time>
      {/* Rendered on hover only: a list has many of these. */}
      {isOver && <Tooltip target={timeRef} opened label={inFull(at, zone, theirZone)} />}
    </>
  );
}

function inFull(at: string, zone: string, theirZone: string | null | undefined): string {
  const ours = `${formatTime(at, zone, 'long')} ${zone}`;
  return theirZone && theirZone !== zone
    ? `${ours} · ${formatTime(at, theirZone, 'long')} ${theirZone}`
    : ours;
}

function Relative({ at }: { at: string }): ReactNode {
  return formatRelative(at, useNow());
}

/** Only if the selection contains nothing else. */
function copyIso(event: ClipboardEvent<HTMLTimeElement>, at: string): void {
  const selected = document.getSelection()?.toString().trim() ?? '';
  if (selected.length > (event.currentTarget.textContent?.length ?? 0)) return;
  event.clipboardData.setData('text/plain', at);
  event.preventDefault();
}
