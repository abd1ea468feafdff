// lasting.mjs - which keys may live for ever: the ones that docs/store.md gives no end.
const LASTING = /:\{g\}:(conf|tools|seen|tv|ws|keys|key:.*|kh:.*)$|:\{\d+\}:(sq|st|dq|ls|dl|ix|o:.*|oa:.*)$/;

export const lasting = (key) => LASTING.test(key);
