import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './mark.module.css';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';
export type MarkProps = { icon: LucideIcon; tone: Tone; label: string; title?: string };

/** A state as an icon and a word; the color only repeats it. */
export function Mark({ icon: Icon, tone, label, title }: MarkProps): ReactNode {
  return (
    <span className={`${classes.mark} ${classes[tone]}`} {...(title === undefined ? {} : { title })}>
      <Icon size={13} aria-hidden="true" />
      <span>{label}</span>
    </span>
  );
}
