// Lets the reader move the region of roi_pool.py. Without this, the picture stands still.
(() => {
  const f32 = Math.fround;

  // As RegionOf and BinSpan in examples/roi_pool/roi_pool_geometry.h: every step rounds to float32.
  const roundToPixel = (scaled) => {
    const near = Math.min(Math.max(scaled, -(2 ** 29)), 2 ** 29);
    return (Math.sign(near) * Math.floor(Math.abs(near) + 0.5)) | 0;
  };
  const regionOf = (roi, scale) => {
    const [x1, y1, x2, y2] = roi.map((corner) => roundToPixel(f32(f32(corner) * f32(scale))));
    return { x: x1, y: y1, columns: Math.max(x2 - x1 + 1, 1), rows: Math.max(y2 - y1 + 1, 1) };
  };
  const binSpan = (p, pooled, start, size, limit) => {
    const bin = f32(f32(size) / f32(pooled));
    const clip = (i) => Math.min(Math.max(i, 0), limit);
    return [clip(start + Math.floor(f32(p * bin))), clip(start + Math.ceil(f32((p + 1) * bin)))];
  };
  const pool = (map, roi, scale, [pooledHeight, pooledWidth]) => {
    const [height, width] = [map.length, map[0].length];
    const region = regionOf(roi, scale);
    const bins = [];
    for (let i = 0; i < pooledHeight; ++i) {
      const rows = binSpan(i, pooledHeight, region.y, region.rows, height);
      for (let j = 0; j < pooledWidth; ++j) {
        const columns = binSpan(j, pooledWidth, region.x, region.columns, width);
        const empty = rows[0] >= rows[1] || columns[0] >= columns[1];
        let best = empty ? 0 : -Infinity;
        let where = empty ? -1 : rows[0] * width + columns[0];
        for (let h = rows[0]; h < rows[1]; ++h) {
          for (let w = columns[0]; w < columns[1]; ++w) {
            if (map[h][w] > best) [best, where] = [map[h][w], h * width + w];
          }
        }
        bins.push({ rows, columns, empty, best, where });
      }
    }
    return { region, bins };
  };

  const enliven = (picture) => {
    const { map, roi: first, scale, pooled, cell } = JSON.parse(picture.dataset.settings);
    const width = map[0].length;
    const limits = [width, map.length].map((size) => [-1.5 / scale, (size + 0.5) / scale]);
    const svg = picture.querySelector("svg");
    const all = (selector) => [...svg.querySelectorAll(selector)];
    const set = (element, attributes) => {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    };
    let roi = [...first];

    const fields = document.createElement("fieldset");
    fields.setAttribute("aria-label", "Corners of the region, in pixels of the image");
    const inputs = ["x1", "y1", "x2", "y2"].map((name, corner) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      set(input, { type: "number", step: "any", name });
      input.addEventListener("input", () => {
        const value = input.valueAsNumber;
        if (Number.isFinite(f32(value))) show(roi.map((old, i) => (i === corner ? value : old)));
      });
      label.append(name, input);
      fields.append(label);
      return input;
    });
    const report = document.createElement("output");
    picture.append(fields, report);

    const show = (next) => {
      roi = next;
      const { region, bins } = pool(map, roi, scale, pooled);
      const drawn = (corner) => (Math.min(Math.max(corner * scale, -1e4), 1e4) + 1.5) * cell;
      const [x1, y1, x2, y2] = roi.map(drawn);
      bins.forEach(({ rows, columns, empty, best, where }, k) => {
        set(all(".bin")[k], {
          x: (columns[0] + 1) * cell,
          y: (rows[0] + 1) * cell,
          width: empty ? 0 : (columns[1] - columns[0]) * cell,
          height: empty ? 0 : (rows[1] - rows[0]) * cell,
        });
        set(all(".winner")[k], {
          cx: ((where % width) + 1.5) * cell,
          cy: (Math.floor(where / width) + 1.5) * cell,
          r: empty ? 0 : 13,
        });
        all(".pooled")[k].textContent = best;
        all(".argmax")[k].textContent = where;
        for (const box of [".pooled-box", ".argmax-box"]) {
          set(all(box)[k], { "fill-opacity": empty ? 0 : 0.3 });
        }
      });
      for (const body of all(".body")) {
        set(body, {
          x: Math.min(x1, x2),
          y: Math.min(y1, y2),
          width: Math.abs(x2 - x1),
          height: Math.abs(y2 - y1),
        });
      }
      const [, start, end] = all(".part");
      set(start, { transform: `translate(${x1} ${y1})` });
      set(end, { transform: `translate(${x2} ${y2})` });
      inputs.forEach((input, corner) => {
        if (input.valueAsNumber !== roi[corner]) input.value = roi[corner];
      });
      const last = (from, size) => (size === 1 ? `${from}` : `${from} to ${from + size - 1}`);
      report.textContent = `On the map: rows ${last(region.y, region.rows)}, columns ${last(
        region.x, region.columns)}. Maxima: ${bins.map((bin) => bin.best).join(", ")}.`;
    };

    const move = (corners, dx, dy) => {
      // A region moves as a whole: what stops one corner stops the other.
      const steps = [dx, dy].map((step, axis) => {
        const own = corners.filter((corner) => corner % 2 === axis).map((corner) => roi[corner]);
        const [low, high] = limits[axis];
        return step > 0
          ? Math.min(step, Math.max(high - Math.max(...own), 0))
          : Math.max(step, Math.min(low - Math.min(...own), 0));
      });
      show(roi.map((value, i) => (corners.includes(i) ? value + steps[i % 2] : value)));
    };

    set(svg, { role: "group", "aria-label": "A region of interest that you can move" });
    for (const child of [...svg.children]) {
      if (!child.matches(".part")) child.setAttribute("aria-hidden", "true");
    }
    const names = ["The region", "Its first corner, x1 and y1", "Its second corner, x2 and y2"];
    all(".part").forEach((part, k) => {
      const corners = part.dataset.corners.split(" ").map(Number);
      set(part, { tabindex: 0, role: "application", "aria-label": `${names[k]}: move with the arrow keys` });
      let from = null;
      const at = (event) => {
        const point = new DOMPoint(event.clientX, event.clientY)
          .matrixTransform(svg.getScreenCTM().inverse());
        return [point.x / cell / scale, point.y / cell / scale];
      };
      part.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        part.setPointerCapture(event.pointerId);
        from = { pointer: at(event), roi: corners.slice(0, 2).map((corner) => roi[corner]) };
      });
      part.addEventListener("pointermove", (event) => {
        if (!from) return;
        const to = at(event);
        const [dx, dy] = [0, 1].map((axis) => {
          const wanted = from.roi[axis] + to[axis] - from.pointer[axis];
          return Math.round(wanted) - roi[corners[axis]];
        });
        move(corners, dx, dy);
      });
      for (const end of ["pointerup", "pointercancel"]) part.addEventListener(end, () => (from = null));
      part.addEventListener("keydown", (event) => {
        const step = event.shiftKey ? Math.round(1 / scale) : 1;
        const steps = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
        if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        move(corners, ...steps[event.key]);
      });
    });
    show(roi);
  };

  for (const picture of document.querySelectorAll(".roi-picture:not([data-live])")) {
    picture.dataset.live = "";
    picture.roiPool = pool; // for the test, which asks for more than the picture shows
    enliven(picture);
  }
})();
