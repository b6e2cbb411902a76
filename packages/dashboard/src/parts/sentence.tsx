import type { ReactNode } from 'react';
import classes from './sentence.module.css';

/** A definition in words. What stands in quotes came from somebody, and stands out; it is never read as anything but text. */
export function Sentence({ text }: { text: string }): ReactNode {
  return (
    <span className={classes.sentence}>
      {text.split(/(“[^”]*(?:”|$))/).map((piece, index) =>
        index % 2 === 1 ? (
          <q key={index} className={classes.value}>
            {piece.replaceAll(/^“|”$/g, '')}
          </q>
        ) : (
          piece
        ),
      )}
    </span>
  );
}
