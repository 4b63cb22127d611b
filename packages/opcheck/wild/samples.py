"""Inputs and attrs of ops that opcheck does not guess: of public libraries and of TensorFlow itself.

Arrays of ones and ramps suffice: opcheck varies them. An op that is not here is guessed.
"""

import numpy as np


def ints(*values, dtype="int32", shape=None) -> np.ndarray:
    """An array of integers."""
    array = np.array(values, dtype)
    return array.reshape(shape) if shape else array


def scalar(value, dtype="int32") -> np.ndarray:
    """An array of rank 0."""
    return np.array(value, dtype)


def texts(*values: bytes) -> np.ndarray:
    """A vector of strings."""
    return np.array(values, object)


def ramp(*shape, dtype="float32") -> np.ndarray:
    """Numbers from 0 to less than 1."""
    count = int(np.prod(shape))
    return (np.arange(count) / max(count, 1)).reshape(shape).astype(dtype)


def longs(*values, shape=None) -> np.ndarray:
    """An array of int64."""
    return ints(*values, dtype="int64", shape=shape)


def call(*inputs, **attrs) -> tuple[list, dict]:
    """Inputs and attrs of an op."""
    return list(inputs), attrs


_TEXT = {
    "RougeL": call(
        longs(1, 2, 3), longs(0, 3), longs(1, 3), longs(0, 2), scalar(-1, "float32")
    ),
    "TFText>OffsetsToBoiseTags": call(
        *(ints(0, 4), ints(3, 7), ints(0), ints(3), texts(b"name")),
        *(longs(0, 2), longs(0, 2), longs(0, 1), longs(0, 1), longs(0, 1)),
        scalar(False, "bool"),
    ),
    "TFText>BoiseTagsToOffsets": call(
        *(ints(0, 4), ints(3, 7), texts(b"B-name", b"O")),
        *(longs(0, 2), longs(0, 2), longs(0, 2)),
    ),
    "TFText>ByteSplitWithOffsets": call(texts(b"abc", b"de")),
    "TFText>ByteSplitByOffsets": call(
        texts(b"abcd"), ints(0, 2), ints(2, 4), longs(0, 2)
    ),
    "ConstrainedSequence": call(
        ramp(1, 3, 2),
        longs(3),
        np.ones((3, 3), bool),
        np.ones((3, 3), "float32"),
        use_viterbi=True,
        use_log_space=True,
        use_start_and_end_states=True,
    ),
    "MaxSpanningTree": call(ints(3), ramp(1, 3, 3)),
    "TFText>NgramsStringJoin": call(
        texts(b"a", b"b", b"c"), [longs(0, 3)], width=2, axis=-1, string_separator=" "
    ),
    "NormalizeUTF8": call(texts(b"one", b"two"), normalization_form="NFKC"),
    "RegexSplitWithOffsets": call(
        texts(b"a b", b"c"), scalar(b"\\s", object), scalar(b"", object)
    ),
    "SentenceFragments": call(
        longs(2),
        longs(0, 2),
        longs(1, 3),
        texts(b"a", b"."),
        longs(0, 0),
        input_encoding="UTF-8",
    ),
    "SentenceFragmentsV2": call(texts(b"One. Two.")),
    "TokenizerFromLogits": call(texts(b"ab c"), ramp(1, 4, 2), scalar(True, "bool")),
    "SplitMergeTokenizeWithOffsets": call(
        texts(b"ab", b"cd"), ints(0, 1, 0, 1), ints(0, 2, 4)
    ),
    "TFText>RoundRobinGenerateMasks": call(
        scalar(3), [ramp(3), ramp(2)], [longs(0, 3), longs(0, 2)]
    ),
    "TFText>RoundRobinTrim": call(
        scalar(3), [ramp(3), ramp(2)], [longs(0, 3), longs(0, 2)]
    ),
    "UnicodeScriptTokenizeWithOffsets": call(ints(97, 32, 98), longs(0, 3)),
    "WhitespaceTokenizeWithOffsets": call(ints(97, 32, 98), longs(0, 3)),
    "TFText>Utf8Binarize": call(
        texts(b"abc", b"d"), word_length=3, bits_per_char=8, replacement_char=65
    ),
}

# One frame with two atoms of one type, which have two neighbors each.
_NATOMS = ints(2, 2, 2)
_NLIST = ints(1, -1, 0, -1, shape=(1, 4))
_RIJ, _TYPE = ramp(1, 12), ints(0, 0, shape=(1, 2))
_SEA = {"n_a_sel": 2, "n_r_sel": 0}
_NET, _IN = ramp(1, 16), ramp(1, 48)
_NET_R, _IN_R = ramp(1, 4), ramp(1, 12)
_BOX = np.eye(3, dtype="float32").reshape(1, 9) * 10
_ENVIRONMENT = [ramp(1, 6) * 3, _TYPE, _NATOMS, _BOX, ints(0, 0, 0, 0, 0, 0)]
_STATISTICS = [np.zeros((1, 16), "float32"), np.ones((1, 16), "float32")]
_STATISTICS_R = [np.zeros((1, 4), "float32"), np.ones((1, 4), "float32")]
_CUT = {"rcut_a": -1.0, "rcut_r": 6.0, "rcut_r_smth": 5.0, "sel_a": [4], "sel_r": [0]}
_CUT_R = {"rcut": 6.0, "rcut_smth": 5.0, "sel": [4]}
# Of 2 and 2 steps; 4 polynomials of degree 5 for each of 8 outputs.
_TABLE = [ramp(4, 48), np.array([0, 1, 2, 0.5, 0.5, -1], "float32")]
_EM = [ramp(6, 1), ramp(2, 3, 4)]
_DEEPMD = {
    **{
        name: call(ramp(2, 3), ramp(2, 3))
        for name in ("AddFltNvnmd", "MulFltNvnmd", "DotmulFltNvnmd")
    },
    **{
        name: call(ramp(2, 3)) for name in ("CopyFltNvnmd", "FltNvnmd", "Tanh4FltNvnmd")
    },
    "QuantizeNvnmd": call(ramp(2, 3), isround=1, nbit1=8, nbit2=8, nbit3=8),
    "MatmulFitnetNvnmd": call(ramp(2, 3), ramp(3, 4), nbitx=8, nbitw=8, normw=0),
    "MatmulFlt2fixNvnmd": call(ramp(2, 3), ramp(3, 4), nbit=8),
    "MatmulFltNvnmd": call(ramp(2, 3), ramp(3, 4), normx=0, normw=0),
    "ProdEnvMatA": call(*_ENVIRONMENT, *_STATISTICS, **_CUT),
    "ProdEnvMatAMix": call(*_ENVIRONMENT, *_STATISTICS, **_CUT),
    "DescrptSeA": call(*_ENVIRONMENT, *_STATISTICS, **_CUT),
    "DescrptNorot": call(*_ENVIRONMENT, *_STATISTICS, **_CUT),
    "ProdEnvMatANvnmdQuantize": call(*_ENVIRONMENT, *_STATISTICS, **_CUT),
    "ProdEnvMatR": call(*_ENVIRONMENT, *_STATISTICS_R, **_CUT_R),
    "DescrptSeR": call(*_ENVIRONMENT, *_STATISTICS_R, **_CUT_R),
    "DescrptSeAEf": call(*_ENVIRONMENT, ramp(1, 6), *_STATISTICS, **_CUT),
    "ProdForceSeA": call(_NET, _IN, _NLIST, _NATOMS, **_SEA),
    "ProdForceNorot": call(_NET, _IN, _NLIST, _NATOMS, **_SEA),
    "ParallelProdForceSeA": call(_NET, _IN, _NLIST, _NATOMS, **_SEA),
    "ProdForceSeR": call(_NET_R, _IN_R, _NLIST, _NATOMS),
    "ProdVirialSeA": call(_NET, _IN, _RIJ, _NLIST, _NATOMS, **_SEA),
    "ProdVirialNorot": call(_NET, _IN, _RIJ, _NLIST, _NATOMS, **_SEA),
    "ProdVirialSeR": call(_NET_R, _IN_R, _RIJ, _NLIST, _NATOMS),
    "ProdForceSeAGrad": call(ramp(1, 6), _NET, _IN, _NLIST, _NATOMS, **_SEA),
    "ProdForceSeRGrad": call(ramp(1, 6), _NET_R, _IN_R, _NLIST, _NATOMS),
    "ProdVirialSeAGrad": call(ramp(1, 9), _NET, _IN, _RIJ, _NLIST, _NATOMS, **_SEA),
    "ProdVirialSeRGrad": call(ramp(1, 9), _NET_R, _IN_R, _RIJ, _NLIST, _NATOMS),
    "SoftMinForceGrad": call(ramp(1, 6), ramp(1, 2), _RIJ, _NLIST, _NATOMS, **_SEA),
    "SoftMinForce": call(ramp(1, 2), _RIJ, _NLIST, _NATOMS, **_SEA),
    "SoftMinVirial": call(ramp(1, 2), _RIJ, _RIJ, _NLIST, _NATOMS, **_SEA),
    "SoftMinSwitch": call(
        _TYPE,
        _RIJ,
        _NLIST,
        _NATOMS,
        sel_a=[2],
        sel_r=[0],
        alpha=0.5,
        rmin=0.5,
        rmax=2.0,
    ),
    "EwaldRecp": call(
        ramp(6), ramp(2), _NATOMS, _BOX.reshape(9), ewald_beta=1.0, ewald_h=2.0
    ),
    "MapAparam": call(ramp(1, 4), _NLIST, _NATOMS, **_SEA),
    "DprcPairwiseIdx": call(ints(1, 0, shape=(1, 2)), _NATOMS),
    "TabulateFusion": call(*_TABLE, *_EM, last_layer_size=8),
    "TabulateFusionSeA": call(*_TABLE, *_EM, last_layer_size=8),
    "TabulateFusionSeAtten": call(*_TABLE, *_EM, ramp(6, 8), last_layer_size=8),
    "TabulateFusionSeR": call(*_TABLE, ramp(2, 3), last_layer_size=8),
    "UnaggregatedDyDxS": call(ramp(5, 4), ramp(1, 4), ramp(5, 4), scalar(1)),
    "UnaggregatedDy2DxS": call(
        ramp(5, 4), ramp(5, 4), ramp(1, 4), ramp(5, 4), scalar(1)
    ),
    "UnaggregatedDyDx": call(ramp(5, 8), ramp(4, 8), ramp(5, 4), ramp(5, 8), scalar(1)),
}

_CDF = ints(0, 64, 128, 256, shape=(1, 4))
_INDEXED = ints(0, 0, 0), _CDF, ints(4), ints(0)
_UNBOUNDED = {"precision": 8, "overflow_width": 4}
_COMPRESSION = {
    "PmfToQuantizedCdf": call(np.array([0.5, 0.25, 0.25], "float32"), precision=8),
    "StochasticRound": call(ramp(2, 3), scalar(0.5, "float32"), ints(1, 2, 3, 4)),
    "RangeEncode": call(np.array([0, 1, 2], "int16"), _CDF, precision=8),
    "RangeDecode": call(scalar(b"\x40\x80", object), ints(3), _CDF, precision=8),
    "UnboundedIndexRangeEncode": call(ints(0, 1, 0), *_INDEXED, **_UNBOUNDED),
    "UnboundedIndexRangeDecode": call(scalar(b"\x40", object), *_INDEXED, **_UNBOUNDED),
    "RunLengthGammaEncode": call(ints(0, 0, 3, 0)),
    "RunLengthEncode": call(
        ints(0, 0, 3, 0),
        run_length_code=1,
        magnitude_code=1,
        use_run_length_for_non_zeros=False,
    ),
}

_STRUCT = {
    "EquiJoinIndices": call(longs(0, 0, 1), longs(0, 1)),
    "EquiJoinAnyIndices": call(longs(0, 0, 1), longs(0, 1)),
    "RunLengthBefore": call(longs(0, 0, 1)),
}

_PNM = b"P5 2 2 255\n\x00\x40\x80\xff"
_IO = {
    "IO>EncodeBmp": call(np.zeros((2, 2, 3), "uint8")),
    "IO>EncodeGif": call(np.zeros((1, 2, 2, 3), "uint8")),
    "IO>DecodePnm": call(scalar(_PNM, object)),
    "IO>DecodeNV12": call(scalar(b"\x80" * 6, object), ints(2, 2)),
    "IO>DecodeYUY2": call(scalar(b"\x80" * 8, object), ints(2, 2)),
    "IO>DecodeLibsvm": call(texts(b"1 1:2.5 2:1"), num_features=4),
    "IO>RE2FullMatch": call(texts(b"ab", b"c"), pattern="(a)b"),
    "IO>AudioResample": call(ramp(8, 1), scalar(4, "int64"), scalar(8, "int64")),
    "IO>AudioEncodeWAV": call(np.zeros((8, 1), "int16"), scalar(8000, "int64")),
    "IO>AudioEncodeFlac": call(np.zeros((8, 1), "int16"), scalar(8000, "int64")),
    "IO>DecodeObj": call(scalar(b"v 1 2 3\nv 4 5 6\n", object)),
}

_PLACES, _AREA = longs(0, 0, 0, 1, 1, 0, shape=(3, 2)), longs(2, 2)
_SPARSE = [_PLACES, ramp(3), _AREA]
_OTHER = [longs(0, 1, 1, 1, shape=(2, 2)), ramp(2), _AREA]
_SETS = [longs(0, 0, 1, 0, shape=(2, 2)), longs(1, 5), longs(2, 1)]
_ROWS = [ramp(4, 3), ints(0, 1, 2), ints(0, 0, 1)]
_IMAGE, _COLOR = ramp(1, 4, 4, 2), ramp(3)
_SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_HALVES = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_CUBES = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
_TWO_BOXES = np.float32([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.6]])
_PEEPHOLES = [ramp(4), ramp(4), ramp(4)]
_STATE = [ramp(2, 4), ramp(2, 4)]
_GRU = [ramp(2, 3), ramp(2, 4), ramp(7, 8), ramp(7, 4), ramp(8), ramp(4)]
_LSTM = [ramp(2, 3), *_STATE, ramp(7, 16), *_PEEPHOLES, ramp(16)]
_LSTMS = [scalar(3, "int64"), ramp(3, 2, 3), *_LSTM[1:]]
_NORM = [_COLOR + 1, _COLOR, _COLOR, _COLOR + 1]
_ZERO, _ONE = scalar(0, "float32"), scalar(1, "float32")
_SEED = ints(1, 2)
_TENSORFLOW = {
    "Fill": call(ints(2), scalar(1, "float32")),
    # Sparse
    "SparseSliceGrad": call(ramp(2), _PLACES, longs(0, 0), _PLACES[:2]),
    "SparseSlice": call(*_SPARSE, longs(0, 0), longs(1, 2)),
    "DenseToSparseSetOperation": call(
        longs(1, 2, 3, 4, shape=(2, 2)), *_SETS, set_operation="intersection"
    ),
    "SparseToSparseSetOperation": call(*_SETS, *_SETS, set_operation="a-b"),
    "SparseSoftmax": call(*_SPARSE),
    "SparseCountSparseOutput": call(
        _PLACES, ints(1, 2, 1), _AREA, ramp(3), binary_output=False
    ),
    "SparseToDense": call(_PLACES, _AREA, ramp(3), _ZERO),
    "SparseDenseCwiseDiv": call(*_SPARSE, ramp(2, 2) + 1),
    "SparseSparseMaximum": call(*_SPARSE, *_OTHER),
    "SparseSparseMinimum": call(*_SPARSE, *_OTHER),
    "SparseReduceMax": call(*_SPARSE, ints(1)),
    "SparseReduceMaxSparse": call(*_SPARSE, ints(1)),
    "SparseAdd": call(*_SPARSE, *_OTHER, _ZERO),
    "SparseAddGrad": call(
        ramp(4), _PLACES, _OTHER[0], longs(0, 0, 0, 1, 1, 0, 1, 1, shape=(4, 2))
    ),
    "SparseTensorDenseMatMul": call(*_SPARSE, ramp(2, 3)),
    # Ragged
    "RaggedBincount": call(longs(0, 2, 3), ints(0, 1, 1), scalar(3), ramp(0)),
    "RaggedTensorToTensor": call(
        longs(2, 3),
        ramp(3),
        _ZERO,
        [longs(0, 2, 3)],
        row_partition_types=["ROW_SPLITS"],
    ),
    # Segments, bins, slices
    "SparseSegmentSqrtN": call(*_ROWS),
    "SparseSegmentSum": call(*_ROWS),
    "SparseSegmentMean": call(*_ROWS),
    "SparseSegmentMeanWithNumSegments": call(*_ROWS, scalar(3)),
    "SparseSegmentSqrtNWithNumSegments": call(*_ROWS, scalar(3)),
    "UnsortedSegmentJoin": call(texts(b"a", b"b", b"c"), ints(0, 1, 0), scalar(2)),
    "UnsortedSegmentProd": call(ramp(3, 2), ints(0, 1, 0), scalar(2)),
    "UnsortedSegmentMin": call(ramp(3, 2), ints(0, 1, 0), scalar(2)),
    "UnsortedSegmentSum": call(ramp(3, 2), ints(0, 1, 0), scalar(2)),
    "DenseBincount": call(ints(0, 1, 1), scalar(3), ramp(3)),
    "Bincount": call(ints(0, 1, 1), scalar(3), ramp(3)),
    "HistogramFixedWidth": call(ramp(5), np.float32([0, 1]), scalar(4)),
    "OneHot": call(ints(0, 2), scalar(3), _ONE, _ZERO),
    "GatherV2": call(ramp(4, 3), ints(0, 2), scalar(0)),
    "Slice": call(ramp(3, 4), ints(0, 1), ints(2, 2)),
    "TensorStridedSliceUpdate": call(ramp(4), ints(1), ints(3), ints(1), ramp(2)),
    "TensorScatterAdd": call(ramp(4), ints(0, 2, shape=(2, 1)), ramp(2)),
    "TensorScatterMin": call(ramp(4), ints(0, 2, shape=(2, 1)), ramp(2)),
    "ScatterNd": call(ints(0, 2, shape=(2, 1)), ramp(2), ints(4)),
    # Matrices
    "MatrixSetDiagV2": call(ramp(3, 3), ramp(3), scalar(0)),
    "MatrixDiagPartV2": call(ramp(3, 3), scalar(0), _ZERO),
    "MatrixDiagPartV3": call(ramp(3, 3), scalar(0), _ZERO),
    "MatrixBandPart": call(ramp(3, 4), scalar(1, "int64"), scalar(1, "int64")),
    "TridiagonalMatMul": call(ramp(1, 3), ramp(1, 3), ramp(1, 3), ramp(3, 2)),
    # Images and convolutions
    "Dilation2DBackpropFilter": call(
        _IMAGE, ramp(2, 2, 2), _IMAGE, **_SAME, rates=[1, 1, 1, 1]
    ),
    "Dilation2DBackpropInput": call(
        _IMAGE, ramp(2, 2, 2), _IMAGE, **_SAME, rates=[1, 1, 1, 1]
    ),
    "ScaleAndTranslate": call(_IMAGE, ints(2, 2), ramp(2) + 1, ramp(2)),
    "ScaleAndTranslateGrad": call(ramp(1, 2, 2, 2), _IMAGE, ramp(2) + 1, ramp(2)),
    "Conv2DBackpropInput": call(
        ints(1, 4, 4, 2), ramp(2, 2, 2, 3), ramp(1, 4, 4, 3), **_SAME
    ),
    "Conv3DBackpropFilterV2": call(
        ramp(1, 2, 2, 2, 2),
        ints(1, 1, 1, 2, 3),
        ramp(1, 2, 2, 2, 3),
        strides=[1, 1, 1, 1, 1],
        padding="SAME",
    ),
    "DepthwiseConv2dNativeBackpropFilter": call(
        _IMAGE, ints(2, 2, 2, 1), _IMAGE, **_SAME
    ),
    "FusedResizeAndPadConv2D": call(
        _IMAGE,
        ints(4, 4),
        ints(0, 0, 1, 1, 1, 1, 0, 0, shape=(4, 2)),
        ramp(2, 2, 2, 3),
        mode="REFLECT",
        strides=[1, 1, 1, 1],
        padding="VALID",
    ),
    "ImageProjectiveTransformV3": call(
        _IMAGE,
        np.float32([[1, 0, 0, 0, 1, 0, 0, 0]]),
        ints(3, 3),
        _ZERO,
        interpolation="BILINEAR",
    ),
    "MaxPoolV2": call(_IMAGE, ints(1, 2, 2, 1), ints(1, 2, 2, 1), padding="VALID"),
    "MaxPoolGradV2": call(
        _IMAGE,
        ramp(1, 2, 2, 2),
        ramp(1, 2, 2, 2),
        ints(1, 2, 2, 1),
        ints(1, 2, 2, 1),
        padding="VALID",
    ),
    "MaxPoolGradWithArgmax": call(
        _IMAGE,
        ramp(1, 2, 2, 2),
        longs(10, 11, 14, 15, 26, 27, 30, 31, shape=(1, 2, 2, 2)),
        **_HALVES,
    ),
    "MaxPool3DGradGrad": call(
        ramp(1, 2, 2, 2, 1), ramp(1, 1, 1, 1, 1), ramp(1, 2, 2, 2, 1), **_CUBES
    ),
    "FractionalMaxPoolGrad": call(
        ramp(1, 4, 4, 1),
        np.float32([5, 7, 13, 15]).reshape(1, 2, 2, 1) / 16,
        ramp(1, 2, 2, 1),
        longs(0, 2, 4),
        longs(0, 2, 4),
    ),
    "NonMaxSuppression": call(_TWO_BOXES, np.float32([0.9, 0.4]), scalar(2)),
    "NonMaxSuppressionV2": call(
        _TWO_BOXES, np.float32([0.9, 0.4]), scalar(2), scalar(0.5, "float32")
    ),
    "CombinedNonMaxSuppression": call(
        _TWO_BOXES.reshape(1, 2, 1, 4),
        ramp(1, 2, 1),
        scalar(2),
        scalar(2),
        scalar(0.5, "float32"),
        _ZERO,
    ),
    # Networks
    "GRUBlockCell": call(*_GRU),
    "GRUBlockCellGrad": call(*_GRU, *_STATE, *_STATE),
    "LSTMBlockCell": call(*_LSTM),
    "LSTMBlockCellGrad": call(*_LSTM, *_STATE * 4, use_peephole=True),
    "BlockLSTM": call(*_LSTMS),
    "BlockLSTMV2": call(*_LSTMS),
    "BlockLSTMGrad": call(*_LSTMS, *[ramp(3, 2, 4)] * 9, use_peephole=True),
    "FusedBatchNormV2": call(ramp(1, 2, 2, 3), *_NORM, is_training=False),
    "FusedBatchNormGrad": call(
        *([ramp(1, 2, 2, 3)] * 2 + [_COLOR, _COLOR, _COLOR + 1])
    ),
    "FusedBatchNormGradV3": call(
        *([ramp(1, 2, 2, 3)] * 2 + [_COLOR, _COLOR, _COLOR + 1, _COLOR])
    ),
    "FakeQuantWithMinMaxVarsGradient": call(ramp(3), ramp(3), _ZERO, _ONE),
    "FakeQuantWithMinMaxVarsPerChannelGradient": call(
        ramp(2, 3), ramp(2, 3), _COLOR - 1, _COLOR + 1
    ),
    "QuantizeAndDequantizeV3": call(ramp(2, 3), _ZERO, _ONE, scalar(8)),
    "QuantizeAndDequantizeV4": call(ramp(2, 3), _ZERO, _ONE),
    # Strings, chance
    "Substr": call(texts(b"one", b"three"), scalar(1), scalar(2)),
    "RegexReplace": call(
        texts(b"one", b"two"), scalar(b"o", object), scalar(b"0", object)
    ),
    "KmeansPlusPlusInitialization": call(
        ramp(5, 2), scalar(2, "int64"), scalar(1, "int64"), scalar(1, "int64")
    ),
    "SobolSample": call(scalar(2), scalar(4), scalar(0)),
    "StatelessRandomPoisson": call(ints(3), _SEED, ramp(3) + 1, dtype="float32"),
    "StatelessMultinomial": call(ramp(2, 3), scalar(4), _SEED),
    "StatelessRandomUniformInt": call(ints(2, 3), _SEED, scalar(0), scalar(9)),
    "StatelessRandomBinomial": call(ints(3), _SEED, _COLOR + 4, _COLOR / 2 + 0.25),
    "StatelessRandomGammaV2": call(ints(3), _SEED, _COLOR + 1),
}

SAMPLES = {
    "deepmd-kit": _DEEPMD,
    "struct2tensor": _STRUCT,
    "tensorflow-compression-ops": _COMPRESSION,
    "tensorflow-cpu": _TENSORFLOW,
    "tensorflow-io": _IO,
    "tensorflow-text": _TEXT,
}
