import { type ClipboardEvent, type ReactNode, Suspense, useState } from 'react';
import { useNow } from './ticking.ts';
import { formatRelative, formatTime, type TimeStyle } from './time.ts';
import { TipBubble } from './tip.tsx';
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
  const [target, setTarget] = useState<HTMLElement | null>(null);
  if (at === null) return <span>{none}</span>;
  return (
    <>
      <time
        dateTime={at}
        className="beckon-when"
        onCopy={(event) => copyIso(event, at)}
        onPointerEnter={({ currentTarget }) => setTarget(currentTarget)}
        onPointerLeave={() => setTarget(null)}
      >
        {style === 'relative' ? <Relative at={at} /> : formatTime(at, zone, style)}
      </time>
      {/* Rendered on hover only: a list has many of these. */}
      {target && (
        <Suspense fallback={null}>
          <TipBubble target={target} label={inFull(at, zone, theirZone)} />
        </Suspense>
      )}
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
